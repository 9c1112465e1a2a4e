/** A socket as heartbeats see it. */
export interface HeartbeatSocket {
  /** When it was opened, in milliseconds of `performance.now()`. */
  readonly openedAt: number;
  /** Whether a message has arrived since the last heartbeat. Set to false by the heartbeat. */
  isAlive: boolean;
  beat(): void;
  /** The client has not answered. */
  expire(): void;
}

/** Asks all sockets for a sign of life every period, and closes those that gave none since the last time. */
export interface Heartbeat {
  add(socket: HeartbeatSocket): void;
  remove(socket: HeartbeatSocket): void;
  stop(): void;
}

/** One timer for all sockets: a timer for each would cost memory that idle connections do not need otherwise. */
export function createHeartbeat(seconds: number | false): Heartbeat {
  const sockets = new Set<HeartbeatSocket>();
  const period = seconds === false ? 0 : seconds * 1000;

  function beatAll(): void {
    const now = performance.now();
    for (const socket of sockets) {
      // A client that has just connected waits for the answer to its first message and for nothing else.
      if (now - socket.openedAt < period) continue;
      if (!socket.isAlive) {
        sockets.delete(socket);
        socket.expire();
        continue;
      }
      socket.isAlive = false;
      socket.beat();
    }
  }
  const timer = seconds === false ? undefined : setInterval(beatAll, period).unref();
  return {
    add: (socket) => void sockets.add(socket),
    remove: (socket) => void sockets.delete(socket),
    stop: () => clearInterval(timer),
  };
}
