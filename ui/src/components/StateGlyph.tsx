// One shape for each state, drawn on a 16 px square with one stroke, so that a state is known without its colour.
import type { ReactNode } from "react";
import { cx } from "@/lib/cx";
import { type Tone, toneText } from "@/primitives";
import type { Shape } from "./states";

const SHAPES: Record<Shape, ReactNode> = {
  circle: <circle cx="8" cy="8" r="5.25" />,
  ring: (
    <>
      <circle cx="8" cy="8" r="5.25" />
      <circle cx="8" cy="8" r="1.9" fill="currentColor" stroke="none" />
    </>
  ),
  arrow: (
    <>
      <circle cx="8" cy="8" r="5.25" strokeDasharray="2.2 1.9" />
      <path d="M5.4 8h5M8.4 5.900 10.600 8 8.400 10.100" />
    </>
  ),
  arc: (
    <>
      <circle cx="8" cy="8" r="5.25" opacity="0.28" />
      <path
        d="M8 2.750A5.250 5.250 0 0 1 13.250 8"
        strokeWidth="2"
        className="turning"
        style={{ transformBox: "view-box" }}
      />
    </>
  ),
  clock: (
    <>
      <circle cx="8" cy="8" r="5.25" opacity="0.35" />
      <path d="M8 2.750A5.250 5.250 0 1 1 2.750 8" strokeWidth="2" />
      <path d="M8 5v3.200l2.100 1.300" />
    </>
  ),
  check: (
    <>
      <circle cx="8" cy="8" r="6" fill="currentColor" stroke="none" />
      <path d="m5.200 8.200 2 2 3.700-4" stroke="var(--surface)" strokeWidth="1.700" />
    </>
  ),
  cross: (
    <>
      <rect x="2.250" y="2.250" width="11.500" height="11.500" rx="2.600" fill="currentColor" stroke="none" />
      <path d="m5.800 5.800 4.400 4.400m0-4.400-4.400 4.400" stroke="var(--surface)" strokeWidth="1.700" />
    </>
  ),
  slash: (
    <>
      <circle cx="8" cy="8" r="5.250" />
      <path d="m4.400 11.600 7.200-7.200" />
    </>
  ),
  chevrons: <path d="m3.600 4.200 3.800 3.800-3.800 3.800M8.400 4.200l3.800 3.800-3.800 3.800" />,
  hourglass: (
    <path d="M4 2.750h8M4 13.250h8M4.900 2.750c0 3.200 6.200 3.800 6.200 5.250s-6.200 2.050-6.200 5.250M11.100 2.750c0 3.200-6.200 3.800-6.200 5.250s6.200 2.050 6.200 5.250" />
  ),
  hourglassArrow: (
    <>
      <path d="M2.400 2.750h7M2.400 13.250h7M3.200 2.750c0 3.200 5.400 3.800 5.400 5.250s-5.400 2.050-5.400 5.250M8.600 2.750c0 3.200-5.400 3.800-5.400 5.250s5.400 2.050 5.400 5.250" />
      <path d="M11.200 8h3.300M13.200 6.500 14.700 8l-1.500 1.500" />
    </>
  ),
  broken: (
    <>
      <path d="M7 2.900 1.900 12.800h5.400M9.200 3.400l4.900 9.400H9.700" />
      <path d="M8 2.600 7 6l1.800 1.800L7.400 10.200l1.200 2.600" strokeWidth="1.300" />
    </>
  ),
  skip: <path d="M3.500 4.200 8.800 8l-5.300 3.800zM11.800 4v8" />,
  missed: (
    <>
      <path d="M8 2.750A5.250 5.250 0 1 0 13.250 8" strokeDasharray="2.400 1.800" />
      <path d="m10.300 2.900 2.800 2.800m0-2.800-2.800 2.800" />
    </>
  ),
};

export function Glyph({
  shape,
  tone,
  size = 16,
  className,
}: {
  shape: Shape;
  tone: Tone;
  size?: number;
  className?: string;
}) {
  return (
    <svg
      viewBox="0 0 16 16"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      className={cx("shrink-0", toneText[tone], className)}
    >
      {SHAPES[shape]}
    </svg>
  );
}
