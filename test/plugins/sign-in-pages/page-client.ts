/** A page as a browser without scripts receives it. */
export interface PageReply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The heading of the page. */
  readonly title: string | undefined;
  /** The sentence of the summary of problems. */
  readonly problem: string | undefined;
  readonly location: string | null;
}

export interface PageRequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
}

const NAME = /^[^=]+/;

/** A browser without scripts: keeps cookies, and posts the forms of pages with their hidden fields. */
export class PageClient {
  readonly cookies = new Map<string, string>();
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, headers: Readonly<Record<string, string>> = {}) {
    this.#url = url;
    this.#headers = headers;
  }

  get(path: string, options: PageRequestOptions = {}): Promise<PageReply> {
    return this.#send('GET', path, undefined, options);
  }

  /** Posts the hidden fields of a page's first form (or of the one with the text `marker`), and `fields`. */
  submit(
    page: PageReply,
    path: string,
    fields: Readonly<Record<string, string>>,
    marker = '<form',
  ): Promise<PageReply> {
    const forms = page.text.match(/<form[\s\S]*?<\/form>/g) ?? [];
    const form = forms.find((one) => one.includes(marker)) ?? '';
    return this.post(path, { ...hiddenFieldsOf(form), ...fields });
  }

  post(path: string, fields: Readonly<Record<string, string>>, options: PageRequestOptions = {}): Promise<PageReply> {
    return this.#send('POST', path, new URLSearchParams(fields).toString(), options);
  }

  async #send(method: string, path: string, body: string | undefined, { headers = {} }: PageRequestOptions) {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(new URL(path, this.#url), {
      method,
      body,
      redirect: 'manual',
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...(cookie === '' ? {} : { cookie }),
        ...this.#headers,
        ...headers,
      },
    });
    for (const line of response.headers.getSetCookie()) {
      const name = NAME.exec(line)?.[0] as string;
      const value = line.slice(name.length + 1).split(';')[0] as string;
      if (/Max-Age=0/.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      title: /<h1>([^<]*)<\/h1>/.exec(text)?.[1],
      problem: /id="problem">\s*(?:<a [^>]*>)?([^<]*)</.exec(text)?.[1]?.trim(),
      location: response.headers.get('location'),
    };
  }
}

function hiddenFieldsOf(form: string): Record<string, string> {
  const inputs = form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
  return Object.fromEntries([...inputs].map(([, name, value]) => [name, value]));
}
