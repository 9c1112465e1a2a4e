export { createFairSemaphore } from './fair-semaphore.ts';
export { createKeyedSemaphores } from './keyed-semaphores.ts';
/** For messages that suggest a name for an unknown one. It is here because every plugin may import from this floor. */
export { findNearestName } from './nearest-name.ts';
export { createSemaphore } from './semaphore.ts';
