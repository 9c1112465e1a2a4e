/** The bus channel of notifications about changed roles and permissions. */
export const PERMISSIONS_CHANGED_CHANNEL = 'access.changed';
