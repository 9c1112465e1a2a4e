export interface HttpReply {
  readonly status: number;
  /** The response body: parsed JSON, text where it is no JSON, undefined where it is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly body: any;
  readonly headers: Headers;
}

export interface RequestOptions {
  readonly token?: string | null;
  /** The request body, sent as JSON. Texts, buffers, streams and forms are sent as they are. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type SendRequest = (method: string, path: string, options?: RequestOptions) => Promise<HttpReply>;

/** Returns a function that sends requests to the service at `url`. */
export const createSender =
  (url: string): SendRequest =>
  async (method, path, { token, body, headers = {} } = {}) => {
    const isStream = body instanceof ReadableStream;
    const raw = typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData || isStream;
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(body !== undefined && !(body instanceof FormData) ? { 'content-type': 'application/json' } : {}),
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...headers,
      },
      body: body === undefined ? undefined : raw ? (body as string) : JSON.stringify(body),
      ...(isStream ? { duplex: 'half' } : {}),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: parseBody(text) };
  };

function parseBody(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
