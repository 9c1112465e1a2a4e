/** A browser without pages: it keeps cookies by origin and follows redirects one at a time. */
export interface CookieBrowser {
  readonly cookies: Map<string, Map<string, string>>;
  /** One request, whose redirect is not followed. */
  send(url: string, init?: RequestInit): Promise<Response>;
  /**
   * Follows redirects until an answer is none, or until `stop` says so of an address, which is then not requested.
   */
  follow(
    url: string,
    stop?: (url: URL) => boolean,
  ): Promise<{ readonly url: URL; readonly response: Response | undefined }>;
}

export function createCookieBrowser(): CookieBrowser {
  // Paths of cookies are not compared: the tests have one service and one provider.
  const cookies = new Map<string, Map<string, string>>();

  async function send(address: string, init: RequestInit = {}): Promise<Response> {
    const { origin } = new URL(address);
    const own = cookies.get(origin) ?? new Map<string, string>();
    cookies.set(origin, own);
    const headers = new Headers(init.headers);
    if (own.size > 0) headers.set('cookie', [...own].map(([name, value]) => `${name}=${value}`).join('; '));
    const response = await fetch(address, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [pair = '', ...attributes] = line.split(';').map((part) => part.trim());
      const at = pair.indexOf('=');
      const isGone = attributes.some((one) => /^max-age=0$/i.test(one)) || attributes.some((one) => /1970/.test(one));
      if (isGone) own.delete(pair.slice(0, at));
      else own.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return response;
  }

  return {
    cookies,
    send,
    async follow(address, stop = () => false) {
      let url = new URL(address);
      for (let count = 0; count < 20; count++) {
        if (stop(url)) return { url, response: undefined };
        const response = await send(url.href);
        const location = response.headers.get('location');
        if (location === null) return { url, response };
        await response.arrayBuffer();
        url = new URL(location, url);
      }
      throw new Error(`more than 20 redirects, the last to ${url}`);
    },
  };
}
