/**
 * How well `text` answers what was typed: 0 not at all. Letters must come in their order; those that begin a word or
 * follow one another count more, and what stands early counts more than what stands late.
 */
export function score(typed: string, text: string): number {
  const want = typed.toLowerCase().replaceAll(" ", "");
  const have = text.toLowerCase();
  const whole = have.indexOf(typed.toLowerCase());
  if (whole === 0) return 1_000 - have.length;
  if (whole > 0) return 700 - whole - have.length / 100 + (/[^a-z0-9]/.test(have[whole - 1] ?? "") ? 150 : 0);
  let points = 0;
  let from = 0;
  let last = -2;
  for (const letter of want) {
    const found = have.indexOf(letter, from);
    if (found < 0) return 0;
    const begins = found === 0 || /[^a-z0-9]/.test(have[found - 1] ?? "");
    points += found === last + 1 ? 8 : begins ? 6 : 1;
    last = found;
    from = found + 1;
  }
  return Math.max(1, points - have.length / 50);
}
