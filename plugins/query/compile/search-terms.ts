/** Terms that can equal a number; others are only looked for in texts. */
export const NUMERIC = /^[+-]?(\d{1,38}(\.\d{0,38})?|\.\d{1,38})$/;
