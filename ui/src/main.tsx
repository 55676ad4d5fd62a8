// Where the console begins: the token out of the address, one cache, one live connection, the router.
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { I18nProvider } from "react-aria-components";
import { createRoot } from "react-dom/client";
import { newClient } from "@/api/client";
import { takeToken } from "@/api/door";
import { startLive } from "@/api/live";
import { bootstrapQuery } from "@/api/node";
import { fetchViews, router } from "@/app/router";
import { useLang } from "@/lib/words";
import "@/lib/appearance";
import "./index.css";

takeToken();
const client = newClient();
startLive(client);
// Asked while the page is still being built, it is answered before the first picture of it.
void client.prefetchQuery(bootstrapQuery());

function Campanile() {
  const lang = useLang();
  return (
    <I18nProvider locale={lang === "zh" ? "zh-CN" : "en-GB"}>
      <QueryClientProvider client={client}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </I18nProvider>
  );
}

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
createRoot(root).render(
  <StrictMode>
    <Campanile />
  </StrictMode>,
);

// WebKit has no idle callback; by then the first view has been painted.
window.setTimeout(fetchViews, 1_000);
