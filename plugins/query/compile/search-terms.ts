/** Terms that can equal a number or a UUID; others are only looked for in texts. */
export const NUMERIC = /^[+-]?(\d{1,38}(\.\d{0,38})?|\.\d{1,38})$/;
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
