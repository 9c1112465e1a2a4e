const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Whether the text has the form of a share's key; PostgreSQL refuses any other in a statement. */
export const isShareKey = (text: string): boolean => UUID.test(text);
