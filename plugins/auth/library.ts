/** Delays failures of a way to sign in to at least LOGIN_STALL_TIME. */
export { delayFailures } from './failure-delay.ts';
