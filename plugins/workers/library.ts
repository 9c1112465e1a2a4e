export { createFairSemaphore } from './fair-semaphore.ts';
/** Only computes, and stands here because every plugin may import from this floor: for messages about unknown names. */
export { nearestName } from './nearest-name.ts';
export { createSemaphore } from './semaphore.ts';
export { createSemaphores } from './semaphores.ts';
