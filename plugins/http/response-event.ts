import type { EventsApi, Log } from '#kernel';
import type { HttpContext } from './contract.ts';
import { RequestOfEvent, ResponseOfEvent } from './request-of-event.ts';

/** Emits the action `response` for a request whose answer has ended, or whose client has left. */
export type AnnounceResponse = (ctx: HttpContext, ip: string | null, started: number) => void;

export interface ResponseAnnouncer {
  hasListeners(): boolean;
  readonly announce: AnnounceResponse;
}

interface Deps {
  readonly events: Pick<EventsApi, 'action' | 'hasListeners'>;
  readonly log: Pick<Log, 'error'>;
}

export const createResponseAnnouncer = ({ events, log }: Deps): ResponseAnnouncer => ({
  hasListeners: () => events.hasListeners('action', 'response'),
  announce(ctx, ip, started) {
    const { caller } = ctx.state;
    const request = new RequestOfEvent(ctx);
    const emit = () => {
      const duration = Math.round(performance.now() - started);
      const about = { caller, request, response: new ResponseOfEvent(ctx), ip, duration };
      // Nothing waits for the end of a response, so a failure here would end the process.
      try {
        events.action(['response'], { ...about, finished: ctx.res.writableFinished });
      } catch (error) {
        log.error({ err: error }, 'the end of a response was not announced');
      }
    };
    if (ctx.res.closed) emit();
    else ctx.res.once('close', emit);
  },
});
