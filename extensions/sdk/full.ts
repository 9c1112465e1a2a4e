import type { IncomingMessage, ServerResponse } from 'node:http';

// biome-ignore lint/suspicious/noExplicitAny: what is behind these names is in plugins/extensions-full/README.md
type Open = any;

/** What code with full authority is given: the whole service. */
export interface ExtensionContext {
  /** Classes, constructed with `{ schema, accountability? }`; without accountability they act without permissions. */
  readonly services: Readonly<Record<string, Open>>;
  /** Classes of errors, whose names end in `Exception`. */
  readonly exceptions: Readonly<Record<string, Open>>;
  /** A query builder on the database. */
  readonly database: Open;
  getSchema(options?: { readonly database?: Open }): Promise<Open>;
  readonly env: Readonly<Record<string, Open>>;
  readonly logger: Open;
  /** For events of one's own. */
  readonly emitter: Open;
  /** The package's own settings, secrets as they are; null where there is no value. */
  readonly extensionSettings: {
    get(
      key: string,
      options?: { readonly scope: 'collection'; readonly collection: string },
    ): Promise<string | number | boolean | null>;
  };
}

/** A request as the router hands it over, with what the service knows about it. */
export type RequestHandler = (
  req: IncomingMessage & Readonly<Record<string, Open>>,
  res: ServerResponse & Readonly<Record<string, Open>>,
  next: (error?: unknown) => void,
) => unknown;

type Add = (path: string, ...handlers: readonly RequestHandler[]) => Router;

export interface Router {
  readonly get: Add;
  readonly post: Add;
  readonly patch: Add;
  readonly put: Add;
  readonly delete: Add;
  use(...handlers: readonly (string | RequestHandler)[]): Router;
}

/** Mounted at `/<id>`; in the form of a function at the package's name without its prefix. */
export type Endpoint =
  | ((router: Router, context: ExtensionContext) => void)
  | { readonly id: string; handler(router: Router, context: ExtensionContext): void };

type EventContext = { readonly database: Open; readonly schema: Open; readonly accountability: Open };

export interface HookRegister {
  /** Before it is stored: what is answered replaces the payload, a throw refuses. */
  filter(event: string, handler: (payload: Open, meta: Open, context: EventContext) => unknown): void;
  /** Afterwards, not waited for. */
  action(event: string, handler: (meta: Open, context: EventContext) => unknown): void;
  init(event: string, handler: (meta: Open) => unknown): void;
  /** By a cron expression. */
  schedule(cron: string, handler: () => unknown): void;
  embed(position: 'head' | 'body', code: string | (() => string)): void;
}

export type Hook = (register: HookRegister, context: ExtensionContext) => void;

export interface OperationContext extends ExtensionContext {
  /** The whole chain. */
  readonly data: Readonly<Record<string, Open>>;
  readonly accountability: Open;
}

export interface OperationApi {
  readonly id: string;
  handler(options: Readonly<Record<string, Open>>, context: OperationContext): unknown;
}

/** An endpoint with full authority. */
export const defineEndpoint = (config: Endpoint): Endpoint => config;
/** A hook with full authority. */
export const defineHook = (config: Hook): Hook => config;
/** The server's half of an operation with full authority. */
export const defineOperationApi = (config: OperationApi): OperationApi => config;
