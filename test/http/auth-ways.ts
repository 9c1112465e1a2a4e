import type { HttpReply, InProcessService } from '../support/service.ts';

/** An answer of sign-in, refresh or logout in one form for REST and GraphQL. */
export interface AuthAnswer {
  /** The HTTP status; GraphQL answers errors of fields with 200. */
  readonly status: number;
  readonly code: string | undefined;
  /** `data` of the answer: the tokens, null or undefined where there are none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly data: any;
  /** The cookie of the answer with its attributes; undefined where it sets none. */
  readonly cookie: string | undefined;
  readonly headers: Headers;
}

/** A way to send the requests of authentication: REST or GraphQL. */
export interface AuthWay {
  readonly name: 'REST' | 'GraphQL';
  login(fields: Record<string, unknown>): Promise<AuthAnswer>;
  refresh(fields: Record<string, unknown>, cookie?: string): Promise<AuthAnswer>;
  logout(fields: Record<string, unknown>, cookie?: string): Promise<AuthAnswer>;
}

const codeOf = ({ body }: HttpReply): string | undefined => body?.errors?.[0]?.extensions?.code;
const headersOf = (cookie: string | undefined): Record<string, string> => (cookie === undefined ? {} : { cookie });

export function createRestWay(service: Pick<InProcessService, 'request'>): AuthWay {
  const send = async (path: string, body: unknown, cookie?: string): Promise<AuthAnswer> => {
    const reply = await service.request('POST', path, { body, headers: headersOf(cookie) });
    const { status, headers } = reply;
    return { status, headers, code: codeOf(reply), data: reply.body?.data, cookie: headers.getSetCookie()[0] };
  };
  return {
    name: 'REST',
    login: (fields) => send('/auth/login', fields),
    refresh: (fields, cookie) => send('/auth/refresh', fields, cookie),
    logout: (fields, cookie) => send('/auth/logout', fields, cookie),
  };
}

export function createGraphqlWay(service: Pick<InProcessService, 'request'>): AuthWay {
  const TYPES: Readonly<Record<string, string>> = { mode: 'auth_mode', email: 'String!', password: 'String!' };
  const send = async (field: string, selection: string, fields: Record<string, unknown>, cookie?: string) => {
    const names = Object.keys(fields);
    const declared = names.map((name) => `$${name}: ${TYPES[name] ?? 'String'}`).join(', ');
    const passed = names.map((name) => `${name}: $${name}`).join(', ');
    const query = `mutation${declared && `(${declared})`} { ${field}${passed && `(${passed})`} ${selection} }`;
    const body = { query, variables: fields };
    const reply = await service.request('POST', '/graphql/system', { body, headers: headersOf(cookie) });
    const { status, headers } = reply;
    const data = reply.body?.data?.[field];
    return { status, headers, code: codeOf(reply), data, cookie: headers.getSetCookie()[0] };
  };
  const TOKENS = '{ access_token expires refresh_token }';
  return {
    name: 'GraphQL',
    login: (fields) => send('auth_login', TOKENS, fields),
    refresh: (fields, cookie) => send('auth_refresh', TOKENS, fields, cookie),
    logout: (fields, cookie) => send('auth_logout', '', fields, cookie),
  };
}
