export { createFairSemaphore } from './fair-semaphore.ts';
/** For messages about unknown names. It is here because every plugin may import from this floor. */
export { findNearestName } from './nearest-name.ts';
export { createSemaphore } from './semaphore.ts';
export { createSemaphores } from './semaphores.ts';
