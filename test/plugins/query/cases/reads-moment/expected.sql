select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id", coalesce(to_char(t1."moment" at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), t1."moment"::text) as "moment" from "public"."thing" t1 order by t1."id" limit 100) r
-- []
