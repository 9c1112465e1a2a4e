select coalesce('[' || string_agg(row_to_json(r.*)::text, ',') || ']', '[]') as data from (select t2.g0 as "list_count", t2.f0 as "count" from (select case when jsonb_typeof(to_jsonb(t1."list")) = 'array' then jsonb_array_length(to_jsonb(t1."list")) end as g0, count(*) as f0 from "public"."thing" t1 group by 1 order by 1 limit 100) t2) r
-- []
