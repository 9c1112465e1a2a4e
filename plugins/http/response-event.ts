import type { EventsApi } from '#kernel';
import type { HttpContext } from './contract.ts';
import { RequestOfEvent, ResponseOfEvent } from './request-of-event.ts';

/** Emits the action `response` for a request whose answer has ended, or whose client has left. */
export type AnnounceResponse = (ctx: HttpContext, ip: string | null, started: number) => void;

export interface ResponseAnnouncer {
  hasListeners(): boolean;
  readonly announce: AnnounceResponse;
}

export const createResponseAnnouncer = (events: Pick<EventsApi, 'action' | 'hasListeners'>): ResponseAnnouncer => ({
  hasListeners: () => events.hasListeners('action', 'response'),
  announce(ctx, ip, started) {
    const { caller } = ctx.state;
    const request = new RequestOfEvent(ctx);
    const emit = () =>
      events.action(['response'], {
        caller,
        request,
        response: new ResponseOfEvent(ctx),
        ip,
        duration: Math.round(performance.now() - started),
        finished: ctx.res.writableFinished,
      });
    if (ctx.res.closed) emit();
    else ctx.res.once('close', emit);
  },
});
