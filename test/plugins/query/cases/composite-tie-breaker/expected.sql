select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."film" as "film", t1."actor" as "actor", t1."billing" as "billing" from "public"."role" t1 order by t1."billing" desc, t1."film", t1."actor" limit 100) r
-- []
