/**
 * Name of the advisory lock of the transaction, `pg_advisory_xact_lock(hashtext(name))`, that a write of users takes which may remove an
 * admin: a deletion, a status other than `active`, a role that is not an admin one. A plugin that locks rows of users before such a
 * write takes this lock first; in the other order two writes could wait for each other.
 */
export const LAST_ADMIN_LOCK = 'platform.last-admin';
