select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "topic", t2.f0 as "count" from (select t1."topic" as g0, count(*) as f0 from "public"."article" t1 group by 1 order by 1 limit 1 offset $1::int8) t2) r
-- [1]
