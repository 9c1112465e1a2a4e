import type { Caller, EventsApi } from '#kernel';
import type { ConnectedClient } from './clients/client.ts';
import type { RealtimeClient, RealtimeSocket } from './contract.ts';

type EventName = 'connect' | 'close' | 'error';

/** The client as listeners see it. `send` is for code with full authority: it sends an object as JSON. */
export interface ClientOfEvent {
  readonly id: string;
  readonly transport: string;
  send(message: unknown): void;
}

/** Events `websocket.*` of sockets, for extensions. */
export interface RealtimeEvents {
  emit(name: EventName, client: ConnectedClient, socket: RealtimeSocket, more?: Record<string, unknown>): void;
}

export const toClientOfEvent = (
  { id, transport }: Pick<RealtimeClient, 'id' | 'transport'>,
  socket: Pick<RealtimeSocket, 'send'>,
): ClientOfEvent => ({ id, transport, send: (message) => void socket.send(JSON.stringify(message)) });

export function createRealtimeEvents(events: Pick<EventsApi, 'action'>, anyone: () => Promise<Caller>): RealtimeEvents {
  async function emit(name: EventName, client: ConnectedClient, socket: RealtimeSocket, more = {}): Promise<void> {
    const caller = client.knownCaller ?? (await anyone());
    events.action([`websocket.${name}`], { caller, client: toClientOfEvent(client, socket), ...more });
  }
  return {
    emit(name, client, socket, more) {
      // Without a database there is no caller to name.
      emit(name, client, socket, more).catch(() => {});
    },
  };
}
