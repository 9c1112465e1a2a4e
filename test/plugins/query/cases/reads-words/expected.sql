select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id", case when t1."words" = '' then '[]'::json else to_json(string_to_array(t1."words", ',')) end as "words" from "public"."thing" t1 order by t1."id" limit 100) r
-- []
