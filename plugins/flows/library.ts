/** Whether the values of a key in options are secrets, such as those of `Authorization` (specification, "Flow record"). */
export { isSecretKey } from './run/redaction.ts';
