/** Durations of answers to requests that guess or look up accounts. */
export { withEqualDuration } from './equal-duration.ts';
export { delayFailures } from './failure-delay.ts';
/** Bounds requests of clients without a user. */
export { createRequestPlaces, PASSWORD_CHANGE_QUEUE } from './request-places.ts';
/** Tokens of links for one user each, by the service `link-tokens`. */
export { createUserLinks, type UserLinkClaims, type UserLinks } from './user-links.ts';
