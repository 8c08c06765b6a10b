const MAX_STEPS = 12;

/** A browser's part in a sign-in at the simulated identity provider: redirects, cookies, and one click. */
export class IssuerVisitor {
  private readonly cookies = new Map<string, string>();

  /**
   * Follows redirects to the identity provider, clicks on a person there, and follows what comes until another page is shown.
   * @param form what the click sends, such as `{ person: 'simulated-developer' }`
   * @returns that page, and its address with what follows the #
   */
  async visit(
    start: string | URL,
    form: Readonly<Record<string, string>>,
  ): Promise<{ url: URL; page: string }> {
    let url = new URL(start);
    let click: URLSearchParams | null = null;
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const response = await this.request(url, click);
      const location = response.headers.get('location');
      if (location !== null) url = new URL(location, url);
      const isForm = location === null && response.ok && url.pathname.startsWith('/issuer/sign-in/');
      if (location === null && !isForm) return { url, page: await response.text() };
      click = isForm ? new URLSearchParams(form) : null;
    }
    throw new Error(`No end after ${MAX_STEPS} steps, at ${url.href}`);
  }

  private async request(url: URL, body: URLSearchParams | null): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie, accept: 'text/html' },
      ...(body && { method: 'POST', body }),
    });
    for (const text of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(text)!;
      // the provider's own session has a path that no browser asks for
      if (!text.includes('path=/issuer/nowhere')) this.cookies.set(name!, value!);
    }
    return response;
  }
}
