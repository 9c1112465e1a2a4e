import { Agent, request } from 'node:http';
import type { SeededRandom } from '../../test/support/random.ts';
import type { SoakAction } from './actions.ts';

/** The end of a request; `status` 0 where the client disconnected. */
export interface RequestOutcome {
  readonly status: number;
  /** The beginning of an unexpected response. */
  readonly text?: string;
}

const MAX_EXCERPT = 300;

/** Sends the requests of actions over kept connections. */
export function createSoakClient(url: URL, tokens: Readonly<Record<'admin' | 'editor', string>>, connections: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const authorization = {
    admin: { authorization: `Bearer ${tokens.admin}` },
    editor: { authorization: `Bearer ${tokens.editor}` },
    public: {},
  };

  const send = (action: SoakAction, n: number, random: SeededRandom): Promise<RequestOutcome> =>
    new Promise((resolve, reject) => {
      const { method, path, body } = action.createRequest(n, random);
      const text = body === undefined ? undefined : JSON.stringify(body);
      let isAborted = false;
      let timer: NodeJS.Timeout | undefined;
      const end = (ending: RequestOutcome) => {
        clearTimeout(timer);
        resolve(ending);
      };
      const failed = (error: Error) => {
        clearTimeout(timer);
        if (isAborted) resolve({ status: 0 });
        else reject(error);
      };
      const sent = request(
        {
          agent,
          host: url.hostname,
          port: url.port,
          method,
          path,
          headers: {
            ...authorization[action.as],
            ...(text === undefined
              ? {}
              : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
          },
        },
        (answer) => {
          const status = answer.statusCode ?? 0;
          const expected = action.expected.includes(status);
          let excerpt = '';
          answer.on('data', (part: Buffer) => {
            if (!expected && excerpt.length < MAX_EXCERPT) excerpt += part.toString().slice(0, MAX_EXCERPT);
          });
          answer.on('error', failed);
          answer.on('end', () => end(expected ? { status } : { status, text: excerpt }));
        },
      );
      sent.on('error', failed);
      if (action.abortAfter) {
        timer = setTimeout(() => {
          isAborted = true;
          sent.destroy();
          resolve({ status: 0 });
        }, action.abortAfter(random));
      }
      sent.end(text);
    });

  return { send, close: () => agent.destroy() };
}
