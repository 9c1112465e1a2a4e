select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t1."id" as "id" from "public"."actor" t1 where (exists (select 1 from "public"."role" t2 where t2."actor" = t1."id" and t2."film" = $1::int8)) order by t1."id" limit 100) r
-- ["2"]
