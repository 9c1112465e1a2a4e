import type Koa from 'koa';
import { type Caller, createCallerForgeryError, mintPublicCaller } from './caller.ts';

const STATE = Symbol('request state');
const PUBLIC = mintPublicCaller();

/** Sets the caller of a request; for the capability `identity` only. */
export let setRequestCaller: (ctx: Koa.Context, caller: Caller) => void;

/** What the kernel puts on every request. Plugins read it from `ctx.state`, and may add their own members. */
export class RequestState {
  requestId = '';
  #caller: Caller = PUBLIC;

  static {
    setRequestCaller = (ctx, caller) => {
      (ctx.state as RequestState).#caller = caller;
    };
  }

  /** Public until a plugin with the capability `identity` identifies the request. */
  get caller(): Caller {
    return this.#caller;
  }

  set caller(_value: never) {
    throw createCallerForgeryError('assign the caller of a request, which only host.identity.identify sets');
  }
}

/** Gives every request of `app` its `ctx.state`, which no layer can replace by another object. */
export function installRequestState(app: Koa): void {
  Object.defineProperty(app.context, 'state', {
    get(this: { [STATE]?: RequestState }) {
      this[STATE] ??= new RequestState();
      return this[STATE];
    },
    // Koa assigns an empty object when it creates the context.
    set() {},
  });
}
