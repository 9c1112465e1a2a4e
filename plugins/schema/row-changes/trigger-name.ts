/**
 * Name of the triggers that announce changes of rows, and of their function. They change no row themselves, so they do not make
 * `Collection.hasSideEffects` true.
 */
export const ROW_CHANGES_TRIGGER = 'platform_rows_changed';
