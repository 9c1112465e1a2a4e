import { authorities, facet } from '#kernel';

/** Objects in storage that belong to rows of another table than that of files. */
export interface BackedUpObjects {
  /**
   * A query of the rows `location`, `name` (of the object), `row` (for messages), `size` (bytes, or null) and `type` (media type, or null).
   * `table` quotes the name of a table of the service.
   */
  query(table: (name: string) => string): string;
}

/** What `backup` saves beside the objects of files. The queries run in the snapshot of the backup. */
export const backupObjects = facet<BackedUpObjects, readonly BackedUpObjects[]>('backup.objects', {
  combine: (all) => all.map(({ value }) => value),
  coreOnly: true,
  describe: () => authorities('contributes to', ['backups'], 'objects in storage'),
});
