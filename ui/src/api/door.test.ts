import { afterEach, expect, test, vi } from "vitest";
import { call, Refusal, Silence, takeToken } from "./door";

const fetched = vi.fn();
vi.stubGlobal("fetch", fetched);

function answers(status: number, body: unknown) {
  fetched.mockResolvedValueOnce(new Response(JSON.stringify(body), { status }));
}

afterEach(() => {
  fetched.mockReset();
  window.sessionStorage.clear();
});

test("the token is taken out of the address, kept for the session and shown to the node", async () => {
  window.location.hash = "#token=s%2Fecret";
  takeToken();
  expect(window.location.hash).toBe("#/");
  window.location.hash = "#/jobs";
  takeToken();
  answers(200, { rows: [] });
  await call("list_jobs", {} as never);
  const [address, request] = fetched.mock.calls[0] as [string, RequestInit];
  expect(address).toBe("/api/list_jobs");
  expect(request.headers).toMatchObject({ authorization: "Bearer s/ecret" });
  expect(JSON.parse(String(request.body))).toMatchObject({ input: {}, zone: "local", lang: "en" });
});

test("what the node refuses comes with its code, both languages and the field", async () => {
  answers(422, { code: "k_sc_ec_000010", message: { en: "no", zh: "否" }, hint: null, field: "name" });
  const refused = await call("list_jobs", {} as never).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Refusal);
  expect(refused).not.toBeInstanceOf(Silence);
  expect(refused).toMatchObject({ code: "k_sc_ec_000010", said: { en: "no", zh: "否" }, field: "name" });
});

test("no answer, and an answer that is none of the node's, are silence", async () => {
  fetched.mockRejectedValueOnce(new TypeError("refused"));
  await expect(call("list_jobs", {} as never)).rejects.toBeInstanceOf(Silence);
  fetched.mockResolvedValueOnce(new Response("<html>bad gateway</html>", { status: 502 }));
  await expect(call("list_jobs", {} as never)).rejects.toBeInstanceOf(Silence);
});
