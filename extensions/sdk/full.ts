import type { IncomingMessage, ServerResponse } from 'node:http';

// biome-ignore lint/suspicious/noExplicitAny: what is behind these names is in plugins/extensions-full/README.md
type Open = any;

/** The context of code with full authority: the whole service. */
export interface ExtensionContext {
  /**
   * Service classes, constructed with `{ schema, accountability? }`. Without accountability they check no permissions.
   */
  readonly services: Readonly<Record<string, Open>>;
  /** Error classes, whose names end in `Exception`. */
  readonly exceptions: Readonly<Record<string, Open>>;
  /** A query builder on the database. */
  readonly database: Open;
  getSchema(options?: { readonly database?: Open }): Promise<Open>;
  readonly env: Readonly<Record<string, Open>>;
  readonly logger: Open;
  /** Emits events of the extension. */
  readonly emitter: Open;
  /** The settings of the package, secrets in plain text; null for a setting without a value. */
  readonly extensionSettings: {
    get(
      key: string,
      options?: { readonly scope: 'collection'; readonly collection: string },
    ): Promise<string | number | boolean | null>;
  };
}

/** A request handler of the router. The service adds members such as `req.accountability`. */
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

/** An endpoint, mounted at `/<id>`. In its function form it is mounted at the package's name without its prefix. */
export type Endpoint =
  | ((router: Router, context: ExtensionContext) => void)
  | { readonly id: string; handler(router: Router, context: ExtensionContext): void };

type EventContext = { readonly database: Open; readonly schema: Open; readonly accountability: Open };

export interface HookRegister {
  /** Runs before the write: a returned value replaces the payload, an error refuses the write. */
  filter(event: string, handler: (payload: Open, meta: Open, context: EventContext) => unknown): void;
  /** Runs after the commit. The request does not wait for it. */
  action(event: string, handler: (meta: Open, context: EventContext) => unknown): void;
  init(event: string, handler: (meta: Open) => unknown): void;
  /** Runs at the times of a cron expression. */
  schedule(cron: string, handler: () => unknown): void;
  embed(position: 'head' | 'body', code: string | (() => string)): void;
}

export type Hook = (register: HookRegister, context: ExtensionContext) => void;

export interface OperationContext extends ExtensionContext {
  /** The results of all steps so far. */
  readonly data: Readonly<Record<string, Open>>;
  /** Aborts when the time of the step is over, or its run has to end. */
  readonly signal: AbortSignal;
  readonly accountability: Open;
}

export interface OperationApi {
  readonly id: string;
  handler(options: Readonly<Record<string, Open>>, context: OperationContext): unknown;
}

/** Defines an endpoint with full authority. */
export const defineEndpoint = (config: Endpoint): Endpoint => config;
/** Defines a hook with full authority. */
export const defineHook = (config: Hook): Hook => config;
/** Defines the server part of an operation with full authority. */
export const defineOperationApi = (config: OperationApi): OperationApi => config;
