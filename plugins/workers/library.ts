export { createFairSemaphore } from './fair-semaphore.ts';
export { createSemaphore } from './semaphore.ts';
export { createSemaphores } from './semaphores.ts';
