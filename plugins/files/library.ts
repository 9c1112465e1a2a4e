/** Converts texts by field name, as forms send them, to values of a payload. @throws INVALID_PAYLOAD for invalid JSON. */
export { formToPayload } from './multipart/form-values.ts';
/** Error codes of routes that create files. */
export { FILE_ERROR_CODES } from './routes/route-descriptions.ts';
