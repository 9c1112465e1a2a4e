import { isUuid } from '../database/library.ts';

/** Whether the text has the form of a share's key; PostgreSQL refuses any other in a statement. */
export const isShareKey = (text: string): boolean => isUuid(text);
