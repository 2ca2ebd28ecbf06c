import { expect, test } from "vitest";
import { type PageWarningKind, webPage } from "./webPage.ts";

test.each<readonly [string, string, readonly PageWarningKind[]]>([
  ["https://example.com/login?next=%2Fhome#top", "example.com", []],
  ["https://accounts.example.co.uk/", "example.co.uk", []],
  ["https://example.com./", "example.com", []],
  // The end of the host says who owns the page. The texts before and after it do not.
  ["https://paypal.com.login.evil.example/paypal.com", "evil.example", []],
  ["https://paypal.com._.evil.example/", "evil.example", []],
  [`https://paypal.com.${"a".repeat(70)}.evil.example/`, "evil.example", []],
  ["https://evil.github.io/github.io", "evil.github.io", []],
  ["http://example.com/", "example.com", ["plainHttp"]],
  ["https://example.com:8443/", "example.com", ["port"]],
  ["https://example.com:443/", "example.com", []],
  ["https://münchen.de/", "xn--mnchen-3ya.de", ["punycode"]],
  ["https://例え.jp/", "xn--r8jz45g.jp", ["punycode"]],
  ["https://日本のgoogle.jp/", "xn--google-9d4ep420bdoc.jp", ["punycode"]],
  ["https://xn--pple-43d.com/", "xn--pple-43d.com", ["mixedScripts"]],
  ["https://login.pаypal.example/", "xn--pypal-4ve.example", ["mixedScripts"]],
  ["https://аррӏе.com/", "xn--80ak6aa92e.com", ["lookAlike"]],
  ["https://москва.example/", "xn--80adxhks.example", ["punycode"]],
  ["https://203.0.113.9/", "203.0.113.9", ["address"]],
  ["https://3405803785/", "203.0.113.9", ["address"]],
  ["https://[2001:db8::1]/", "[2001:db8::1]", ["address"]],
  ["https://[fe80::1]/", "[fe80::1]", ["address", "privateHost"]],
  ["https://[fd12:3456::1]/", "[fd12:3456::1]", ["address", "privateHost"]],
  ["http://[::1]:3000/", "[::1]", ["privateHost", "port"]],
  ["https://[::ffff:192.168.0.1]/", "[::ffff:c0a8:1]", ["address", "privateHost"]],
  ["http://127.0.0.1:3000/", "127.0.0.1", ["privateHost", "port"]],
  ["http://localhost/cb", "localhost", ["privateHost"]],
  ["http://app.localhost/", "app.localhost", ["privateHost"]],
  ["http://10.1.2.3/", "10.1.2.3", ["plainHttp", "address", "privateHost"]],
  ["https://172.16.0.1/", "172.16.0.1", ["address", "privateHost"]],
  ["https://172.32.0.1/", "172.32.0.1", ["address"]],
  ["https://192.168.178.1/", "192.168.178.1", ["address", "privateHost"]],
  ["https://169.254.169.254/", "169.254.169.254", ["address", "privateHost"]],
  ["https://printer.local/", "printer.local", ["privateHost"]],
  ["https://db.internal/", "db.internal", ["privateHost"]],
  ["https://printer.localdomain./", "printer.localdomain", ["privateHost"]],
  ["https://wiki/", "wiki", ["privateHost"]],
  // However a number is written, it is the same address.
  ["http://2130706433/", "127.0.0.1", ["privateHost"]],
  ["http://0x7f000001/", "127.0.0.1", ["privateHost"]],
  ["http://0x7f.1/", "127.0.0.1", ["privateHost"]],
  ["http://0177.0.0.1/", "127.0.0.1", ["privateHost"]],
  ["http://127.1/", "127.0.0.1", ["privateHost"]],
  ["http://１２７.０.０.１/", "127.0.0.1", ["privateHost"]],
  ["https://0300.0250.1.1/", "192.168.1.1", ["address", "privateHost"]],
  ["http://0/", "0.0.0.0", ["privateHost"]],
  ["http://[::]/", "[::]", ["privateHost"]],
  ["http://[::7f00:1]/", "[::7f00:1]", ["privateHost"]],
  ["https://[64:ff9b::192.168.0.1]/", "[64:ff9b::c0a8:1]", ["address", "privateHost"]],
  ["https://[fec0::1]/", "[fec0::1]", ["address", "privateHost"]],
  ["https://example.com:80/", "example.com", ["port"]],
  ["http://example.com:443/", "example.com", ["plainHttp", "port"]],
  // What stands before the domain, or is joined to it, says nothing.
  ["https://paypal.com-login.example/", "com-login.example", []],
  ["https://evil.example/@paypal.com", "evil.example", []],
  ["https://evil.example#@paypal.com", "evil.example", []],
  ["https://evil.example\\.paypal.com/", "evil.example", []],
  ["HTTPS://EXAMPLE.com", "example.com", []],
  ["https:\\\\evil.example", "evil.example", []],
  ["https://exa\u200bmple.com/", "example.com", []],
  ["https://ｅｘａｍｐｌｅ。com/", "example.com", []],
  ["https://gооgle.com/", "xn--ggle-55da.com", ["mixedScripts"]],
  ["https://ѕсоре.com/", "xn--e1argc3h.com", ["lookAlike"]],
  ["https://αрple.com/", "xn--ple-nxc92e.com", ["mixedScripts"]],
  ["https://xn--0/", "xn--0", ["punycode", "privateHost"]],
  ["https://example.com/%0d%0aSet-Cookie:x", "example.com", ["hidden"]],
  ["https://example.com/a%E2%80%AEfdp.exe", "example.com", ["hidden"]],
  ["https://example.com/\u202efdp.exe", "example.com", ["hidden"]],
  ["https://example.com/?q=a%00b", "example.com", ["hidden"]],
  ["https://example.com/?q=%C3%A4%20%2F%F0%9F%91%A9", "example.com", []],
  ["https://example.com/%ff%fe", "example.com", []],
  [`https://example.com/?${"a".repeat(2_000)}`, "example.com", ["long"]],
])("%s is a page of %s", (url, domain, kinds) => {
  const page = webPage(url);
  if ("refused" in page) throw new Error(page.refused);
  expect(page.domain).toBe(domain);
  expect(page.warnings.map(({ kind }) => kind)).toEqual(kinds);
  expect(page.before + page.domain + page.after).toBe(page.href);
  // The domain is marked in the host only, and not in the path.
  expect(page.before).toMatch(/^https?:\/\/[^/]*$/);
});

test.each([
  ["javascript:alert(1)", "javascript:"],
  ["file:///etc/passwd", "file:"],
  ["vscode://some.extension/run", "vscode:"],
  ["data:text/html,hello", "data:"],
  ["https://bank.example@evil.example/", "user name"],
  ["https://:secret@evil.example/", "user name"],
  ["view-source:https://example.com", "view-source:"],
  ["blob:https://example.com/1", "blob:"],
  ["command:workbench.action.quit", "command:"],
  ["mailto:ada@example.com", "mailto:"],
  ["https://paypal.com%40evil.example/", "not a URL"],
  ["https://exa mple.com/", "not a URL"],
  ["//example.com/", "not a URL"],
  ["https://example.com:99999/", "not a URL"],
  ["not a page", "not a URL"],
  ["", "not a URL"],
  ["https://", "not a URL"],
])("%s is refused", (url, words) => {
  expect(webPage(url)).toEqual({ refused: expect.stringContaining(words) });
});

test("what hides in a URL is shown or gone", () => {
  const page = webPage("https://example.com/\u202egnp.exe?\tq=ä");
  expect(page).toMatchObject({ href: "https://example.com/%E2%80%AEgnp.exe?q=%C3%A4" });
});

test("a name in other letters is told in both spellings", () => {
  const page = webPage("https://xn--pple-43d.com/");
  if ("refused" in page) throw new Error(page.refused);
  expect(page.warnings[0]?.words).toContain("“аpple.com” but is xn--pple-43d.com");
});
