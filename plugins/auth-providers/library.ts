/** The profile of claims, by the keys that a driver declares. */

/** Findings of `auth check`. */
export { attemptCheck, describeExpiry } from './check/findings.ts';
export { CLAIM_KEYS, profileOfClaims } from './claims.ts';
/** Lines of the log about failed sign-ins, bounded. */
export { createFailureLog } from './failure-log.ts';
/** A posted form within limits, for callbacks of drivers. */
export { readFormBody } from './form-body.ts';
/** A document that sign-ins need, fetched once and renewed beside them. */
export { createProviderDocument, type ProviderDocument } from './provider-document.ts';
/** The address that a sign-in or a logout ends at, by the allow list of its provider. */
export { parseRedirectTarget } from './redirect-target.ts';
/** The parts of the description of a callback. */
export { PROVIDER_CALLBACK_ANSWERS, PROVIDER_CALLBACK_ERRORS } from './route-descriptions.ts';
/** Failures of providers, whose reasons only the log has. */
export { createProviderFailure, reasonOf } from './unavailable.ts';
