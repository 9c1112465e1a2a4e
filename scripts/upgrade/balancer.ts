import { Agent, request } from 'node:http';

export interface BalancedReply {
  readonly status: number;
  readonly body: string;
}

/** Sends requests to several processes in turn over kept connections, as a proxy in front of them does. */
export interface Balancer {
  send(method: string, path: string, body?: string): Promise<BalancedReply>;
  add(port: number): void;
  /** Requests that a process refused to connect for, and that another one took: no client sees them. */
  passedOn(): number;
}

/** Connections are used in turn: a process closes one that is idle for some seconds, maybe under the next request. */
const CONNECTION_OPTIONS = { keepAlive: true, maxSockets: 16, scheduling: 'fifo' } as const;

interface Target {
  readonly port: number;
  readonly agent: Agent;
}

/** `headers` go with each request. A process that says `Connection: close`, or refuses connections, gets no more requests. */
export function createBalancer(headers: Readonly<Record<string, string>>): Balancer {
  const targets: Target[] = [];
  let next = 0;
  let passedOn = 0;
  const remove = (target: Target) => {
    const at = targets.indexOf(target);
    if (at >= 0) targets.splice(at, 1);
  };

  async function send(method: string, path: string, body?: string): Promise<BalancedReply> {
    const target = targets[next++ % targets.length];
    if (!target) throw new Error('no process takes requests');
    try {
      const { isClosing, ...reply } = await exchange(target, { method, path, body, headers });
      if (isClosing) remove(target);
      return reply;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED')
        throw Object.assign(error as Error, { port: target.port });
      remove(target);
      passedOn++;
      return send(method, path, body);
    }
  }

  return {
    send,
    add: (port) => void targets.push({ port, agent: new Agent(CONNECTION_OPTIONS) }),
    passedOn: () => passedOn,
  };
}

interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

const exchange = (
  { port, agent }: Target,
  { method, path, body, headers }: Exchange,
): Promise<BalancedReply & { readonly isClosing: boolean }> =>
  new Promise((resolve, reject) => {
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const sent = request(
      { host: '127.0.0.1', port, agent, method, path, headers: { ...headers, ...type } },
      (reply) => {
        let text = '';
        reply.setEncoding('utf8').on('data', (part: string) => (text += part));
        reply.on('error', reject);
        reply.on('end', () =>
          resolve({ status: reply.statusCode as number, body: text, isClosing: reply.headers.connection === 'close' }),
        );
      },
    );
    sent.on('error', (error) => reject(Object.assign(error, { isReused: sent.reusedSocket })));
    sent.end(body);
  });
