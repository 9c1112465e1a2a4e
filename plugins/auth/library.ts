/** Durations of answers to requests that guess or look up accounts. */
export { withEqualDuration } from './equal-duration.ts';
export { delayFailures } from './failure-delay.ts';
/** Bounds requests without a user that set a password. */
export { createPasswordChangePlaces } from './password-change-places.ts';
/** Tokens of links for one user each, by the service `link-tokens`. */
export { createUserLinks, type UserLinkClaims, type UserLinks } from './user-links.ts';
