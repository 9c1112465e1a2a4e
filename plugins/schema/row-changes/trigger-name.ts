/**
 * Name of the triggers that announce changes of rows, and of their function. They change no row themselves, so they do not make
 * `Collection.hasSideEffects` true.
 */
export const ROW_CHANGES_TRIGGER = 'platform_rows_changed';

/** Names of the triggers of the plugin `row-feed`, which change no row of their table either. */
export const ROW_FEED_TRIGGERS = {
  insert: 'platform_row_feed_insert',
  update: 'platform_row_feed_update',
  delete: 'platform_row_feed_delete',
  truncate: 'platform_row_feed_truncate',
} as const;

/** Name of the functions of the triggers of `row-feed`, before what tells them apart. */
export const ROW_FEED_FUNCTION = 'platform_row_feed';
