import type { ItemsEngine } from '../../items/contract.ts';
import type { JsonObject } from '../contract.ts';
import type { SnapshotPart } from './part.ts';
import { requireMember, withDefaults } from './record-members.ts';

const COLLECTION = 'platform_dashboards';
const DASHBOARD_DEFAULTS: JsonObject = { id: null, name: null, icon: 'dashboard', note: null, color: null };
const PANEL_DEFAULTS: JsonObject = {
  id: null,
  name: null,
  icon: null,
  color: null,
  show_header: false,
  note: null,
  type: null,
  position_x: null,
  position_y: null,
  width: null,
  height: null,
  options: null,
};

function completeDashboard(dashboard: JsonObject): JsonObject {
  const panels = Array.isArray(dashboard.panels) ? (dashboard.panels as readonly JsonObject[]) : [];
  return {
    ...withDefaults(dashboard, DASHBOARD_DEFAULTS),
    panels: panels
      .map((panel) => withDefaults(panel, PANEL_DEFAULTS))
      .sort((a, b) => (String(a.id) < String(b.id) ? -1 : 1)),
  };
}

/** Dashboards with their panels, by id. */
export const createDashboardsPart = (items: ItemsEngine): SnapshotPart => ({
  name: 'dashboards',
  deletes: true,
  idOf: (record) => requireMember(record, 'id', 'dashboards'),
  async read(caller) {
    const fields = [...Object.keys(DASHBOARD_DEFAULTS), ...Object.keys(PANEL_DEFAULTS).map((name) => `panels.${name}`)];
    const deep = { panels: { _limit: -1 } };
    const rows = await items.rows<JsonObject>(caller, COLLECTION, { fields, deep, sort: ['id'], limit: -1 });
    return rows.map(completeDashboard);
  },
  complete: completeDashboard,
  async apply(caller, changes) {
    for (const { id, before, after } of changes) {
      if (!after) await items.deleteMany(caller, COLLECTION, [id]);
      else if (before) await items.updateOne(caller, COLLECTION, id, { ...after });
      else await items.createOne(caller, COLLECTION, { ...after });
    }
  },
});
