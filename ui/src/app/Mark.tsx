// The bell in its tower: the only bronze in the console.
export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg viewBox="0 0 24 24" width={size} height={size} aria-hidden="true" className="shrink-0">
      <path d="M12 1.600 20 7.700v1.700H4V7.700z" fill="var(--bell)" />
      <path d="M5.600 10.800h1.900v10H5.600zm10.900 0h1.900v10h-1.900z" fill="var(--bell-deep)" />
      <path
        d="M12 10.600c2.050 0 3 1.550 3 3.600 0 1.800.650 2.650 1.250 3.250h-8.500C8.350 16.850 9 16 9 14.200c0-2.050.95-3.600 3-3.600z"
        fill="var(--bell)"
      />
      <circle cx="12" cy="18.950" r="1.150" fill="var(--bell)" />
      <path d="M4 21.200h16v1.700H4z" fill="var(--bell)" />
    </svg>
  );
}
