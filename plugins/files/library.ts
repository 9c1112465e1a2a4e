/** Texts by the names of fields, as forms have them, as values of a payload; INVALID_PAYLOAD for JSON that is none. */
export { payloadOf } from './multipart/values.ts';
/** Error codes of routes that make files. */
export { FILE_ERRORS } from './routes/descriptions.ts';
