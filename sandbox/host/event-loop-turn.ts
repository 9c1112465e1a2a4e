/**
 * Lets the event loop of the service answer other requests. Awaited between the parts of a start that work synchronously (imports, the start
 * of a process), which would be one long pause together.
 */
export { setImmediate as eventLoopTurn } from 'node:timers/promises';
