export { createSemaphore } from './semaphore.ts';
export { createSemaphores } from './semaphores.ts';
