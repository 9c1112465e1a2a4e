/** Durations of answers to requests that guess or look up accounts. */
export { withEqualDuration } from './equal-duration.ts';
export { delayFailures } from './failure-delay.ts';
/** The claim by which a link can be used once. */
export { digestForLink } from './link-digest.ts';
/** Bounds requests without a user that set a password. */
export { createPasswordChangePlaces } from './password-change-places.ts';
