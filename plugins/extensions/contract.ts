/** What an extension is to others; `Extensions` themselves are seen through the routes. */
export type { ExtensionType, Reason, ReasonCode } from './model.ts';
