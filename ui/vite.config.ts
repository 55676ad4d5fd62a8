// How the console is built: one page, everything it needs beside it (fonts too: the desktop has no network to count on).
import { fileURLToPath } from "node:url";
import tailwind from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react(), tailwind()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  // The desktop opens the page from its own scheme, so addresses are relative.
  base: "./",
  clearScreen: false,
  server: { port: 5173, strictPort: true },
  preview: { port: 4173, strictPort: true },
  build: { target: "es2022", chunkSizeWarningLimit: 1500 },
  test: { environment: "happy-dom", include: ["src/**/*.test.{ts,tsx}"] },
});
