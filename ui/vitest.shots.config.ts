// Pictures of every view, taken in Chromium with a scripted door; looked at by people, not compared by machines.
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  test: { environment: "node", include: ["tests/**/*.shots.ts"], testTimeout: 300_000, hookTimeout: 60_000 },
});
