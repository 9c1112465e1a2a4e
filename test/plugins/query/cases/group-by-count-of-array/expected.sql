select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "list_count", t2.f0 as "count" from (select case when t1."list" is not null then coalesce(array_length(t1."list", 1), 0) end as g0, count(*) as f0 from "public"."thing" t1 group by 1 order by 1 limit 100) t2) r
-- []
