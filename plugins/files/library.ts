/** Converts texts by field name, as forms send them, to values of a payload. @throws INVALID_PAYLOAD for invalid JSON. */

export type { FormFile, FormReader } from './multipart/form.ts';
export { formToPayload } from './multipart/form-values.ts';
/** Reads multipart forms from the connection: their fields and, one after the other, the bytes of their files. */
export { isMultipart, withForm } from './multipart/with-form.ts';
/** Error codes of routes that create files. */
export { FILE_ERROR_CODES } from './routes/route-descriptions.ts';
/** Bytes that a plugin reads more than once, in a temporary file that disappears with the process. */
export { storeInTemporaryFile, type TemporaryFile } from './temporary-file.ts';
