// Waiting for what another program does. A story says what must become true, never how long to sleep.

/**
 * Asks until the answer is true, and hands it over. Fails with what was awaited, and with the last answer or error.
 * @template T
 * @param {string} what what must become true, for whoever reads the failure
 * @param {() => T | Promise<T>} probe
 * @param {{ within?: number, every?: number, unless?: () => string | null }} [limits] milliseconds; `unless` ends the
 *   waiting early by saying why it is in vain
 * @returns {Promise<Exclude<Awaited<T>, false | null | undefined | 0 | "">>}
 */
export async function eventually(what, probe, { within = 15_000, every = 100, unless } = {}) {
  const until = performance.now() + within;
  let last;
  for (;;) {
    try {
      last = await probe();
      if (last) return /** @type {any} */ (last);
    } catch (error) {
      last = error;
    }
    const vain = unless?.();
    if (vain) throw new Error(`${what}: ${vain}`);
    if (performance.now() > until) break;
    await new Promise((resolve) => setTimeout(resolve, every));
  }
  const shown = last instanceof Error ? last.message : JSON.stringify(last);
  throw new Error(`${what}: not within ${within} ms; the last answer was ${shown?.slice(0, 600)}`);
}
